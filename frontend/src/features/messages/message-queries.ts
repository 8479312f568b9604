import { queryOptions } from '@tanstack/react-query';
import {
  type BodyForm,
  DeadLettersDocument,
  FoundMessagesDocument,
  MessageBodyDocument,
  MessageDocument,
  MessagesDocument,
  type MessagesQuery,
  SendMessageDocument,
  type SendMessageInput,
} from '@/gql/operations';
import { clusterScope } from '@/lib/cluster-scope';
import { type Answer, ask, demand } from '@/lib/graphql';
import { keepWithin } from '@/lib/keep-within';
import { followed, instantOf } from './message';

export type Browsing = {
  begin: string | undefined;
  end: string | undefined;
  after: string | undefined;
};

const scope = [clusterScope, 'messages'] as const;

export const messageKeys = {
  pages: (clusterName: string, topicName: string) =>
    [...scope, 'page', clusterName, topicName] as const,
  page: (clusterName: string, topicName: string, wanted: Browsing) =>
    [...messageKeys.pages(clusterName, topicName), wanted] as const,
  found: (clusterName: string, topicName: string, key: string, isUnique: boolean) =>
    [...scope, 'found', clusterName, topicName, key, isUnique] as const,
  dead: (clusterName: string, consumerGroupName: string) =>
    [...scope, 'dead', clusterName, consumerGroupName] as const,
  follow: (clusterName: string, topicName: string) =>
    [...scope, 'follow', clusterName, topicName] as const,
  one: (clusterName: string, messageId: string, topicName: string | undefined) =>
    [...scope, 'one', clusterName, messageId, topicName] as const,
  bodies: (clusterName: string, messageId: string, topicName: string | undefined) =>
    [...scope, 'body', clusterName, messageId, topicName] as const,
  body: (clusterName: string, messageId: string, topicName: string | undefined, form: BodyForm) =>
    [...messageKeys.bodies(clusterName, messageId, topicName), form] as const,
};

export const messagePageSize = 50;
/** As many as the server hands out at once. */
export const followPageSize = 100;
export const deadLettersShown = 100;
const followIntervalMs = 1_000;

export function messagesOf(clusterName: string, topicName: string, wanted: Browsing) {
  return queryOptions({
    queryKey: messageKeys.page(clusterName, topicName, wanted),
    queryFn: ({ signal }) =>
      ask(
        MessagesDocument,
        {
          clusterName,
          topicName,
          first: messagePageSize,
          after: wanted.after ?? null,
          within: { begin: instantOf(wanted.begin), end: instantOf(wanted.end) },
        },
        signal,
      ),
    placeholderData: keepWithin(messageKeys.pages(clusterName, topicName)),
  });
}

/** The oldest dead letters of a consumer group; none where it never had one. */
export function deadLettersOf(clusterName: string, consumerGroupName: string) {
  return queryOptions({
    queryKey: messageKeys.dead(clusterName, consumerGroupName),
    queryFn: ({ signal }) =>
      ask(
        DeadLettersDocument,
        { clusterName, topicName: `%DLQ%${consumerGroupName}`, first: deadLettersShown },
        signal,
      ),
  });
}

export function messagesFound(
  clusterName: string,
  topicName: string,
  key: string,
  isUnique: boolean,
) {
  return queryOptions({
    queryKey: messageKeys.found(clusterName, topicName, key, isUnique),
    queryFn: ({ signal }) =>
      ask(FoundMessagesDocument, { clusterName, topicName, key, isUnique }, signal),
  });
}

/**
 * Follows a topic from now on: each answer goes on where the previous answer ended. If more
 * messages came than one answer holds, the rest is left out. The next answer then begins at the end
 * again, so that new messages are shown. From then on `hasNextPage` says that there are gaps.
 */
export function messagesFollowed(clusterName: string, topicName: string) {
  const queryKey = messageKeys.follow(clusterName, topicName);
  return queryOptions({
    queryKey,
    queryFn: async ({ signal, client }): Promise<Answer<MessagesQuery>> => {
      const known = client.getQueryData<Answer<MessagesQuery>>(queryKey)?.data.messages;
      const askAfter = (after: string | null) => {
        const page = { first: followPageSize, after, within: { fromLatest: true } };
        return ask(MessagesDocument, { clusterName, topicName, ...page }, signal);
      };
      const answer = await askAfter(known?.pageInfo.endCursor ?? null);
      const come = answer.data.messages;
      const isTooMuch = come.pageInfo.hasNextPage;
      const { endCursor } = (isTooMuch ? await askAfter(null) : answer).data.messages.pageInfo;
      const hasNextPage = isTooMuch || known?.pageInfo.hasNextPage === true;
      const nodes = followed(known?.nodes ?? [], come.nodes);
      const messages = { ...come, nodes, pageInfo: { endCursor, hasNextPage } };
      return { ...answer, data: { messages } };
    },
    refetchInterval: followIntervalMs,
    // A return to the page begins again: the messages missed in between would leave gaps.
    gcTime: 0,
  });
}

export function messageOf(clusterName: string, messageId: string, topicName: string | undefined) {
  return queryOptions({
    queryKey: messageKeys.one(clusterName, messageId, topicName),
    queryFn: async ({ signal }) => {
      const variables = { clusterName, messageId, topicName: topicName ?? null };
      return demand(await ask(MessageDocument, variables, signal), 'message');
    },
  });
}

export function messageBodyOf(
  clusterName: string,
  messageId: string,
  topicName: string | undefined,
  form: BodyForm,
) {
  return queryOptions({
    queryKey: messageKeys.body(clusterName, messageId, topicName, form),
    queryFn: ({ signal }) =>
      ask(
        MessageBodyDocument,
        { clusterName, messageId, topicName: topicName ?? null, form },
        signal,
      ),
    placeholderData: keepWithin(messageKeys.bodies(clusterName, messageId, topicName)),
    // It never changes, and each look at it stands in the audit.
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Sends one message; it is never tried again by itself, since the first one may be stored. */
export const sendOne = {
  mutationFn: (message: SendMessageInput) => ask(SendMessageDocument, { message }),
  retry: false,
};
