import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import {
  type BodyForm,
  FoundMessagesDocument,
  MessageBodyDocument,
  MessageDocument,
  MessagesDocument,
  type MessagesQuery,
} from '@/gql/operations';
import { clusterScope } from '@/lib/cluster-scope';
import { type Answer, ask } from '@/lib/graphql';
import { followed, instantOf } from './message';

export type Browsing = {
  begin: string | undefined;
  end: string | undefined;
  after: string | undefined;
};

const scope = [clusterScope, 'messages'] as const;

export const messageKeys = {
  page: (clusterName: string, topicName: string, wanted: Browsing) =>
    [...scope, 'page', clusterName, topicName, wanted] as const,
  found: (clusterName: string, topicName: string, key: string, isUnique: boolean) =>
    [...scope, 'found', clusterName, topicName, key, isUnique] as const,
  follow: (clusterName: string, topicName: string) =>
    [...scope, 'follow', clusterName, topicName] as const,
  one: (clusterName: string, messageId: string, topicName: string | undefined) =>
    [...scope, 'one', clusterName, messageId, topicName] as const,
  body: (clusterName: string, messageId: string, topicName: string | undefined, form: BodyForm) =>
    [...scope, 'body', clusterName, messageId, topicName, form] as const,
};

export const messagePageSize = 50;
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
    placeholderData: keepPreviousData,
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

/** Follows a topic from now on: each answer goes on where the one before ended. */
export function messagesFollowed(clusterName: string, topicName: string) {
  const queryKey = messageKeys.follow(clusterName, topicName);
  return queryOptions({
    queryKey,
    queryFn: async ({ signal, client }): Promise<Answer<MessagesQuery>> => {
      const known = client.getQueryData<Answer<MessagesQuery>>(queryKey)?.data.messages;
      const after = known?.pageInfo.endCursor ?? null;
      const answer = await ask(
        MessagesDocument,
        { clusterName, topicName, first: messagePageSize, after, within: { fromLatest: true } },
        signal,
      );
      const nodes = followed(known?.nodes ?? [], answer.data.messages.nodes);
      return { ...answer, data: { messages: { ...answer.data.messages, nodes } } };
    },
    refetchInterval: followIntervalMs,
    // Who comes back begins anew: what was missed would not be whole.
    gcTime: 0,
  });
}

export function messageOf(clusterName: string, messageId: string, topicName: string | undefined) {
  return queryOptions({
    queryKey: messageKeys.one(clusterName, messageId, topicName),
    queryFn: ({ signal }) =>
      ask(MessageDocument, { clusterName, messageId, topicName: topicName ?? null }, signal),
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
    placeholderData: keepPreviousData,
    // It never changes, and each look at it stands in the audit.
    staleTime: Number.POSITIVE_INFINITY,
  });
}
