import { type QueryClient, queryOptions } from '@tanstack/react-query';
import {
  AddUserDocument,
  type ApiTokenInput,
  ApiTokensDocument,
  ChangeUserRoleDocument,
  CreateApiTokenDocument,
  DisableUserDocument,
  EnableUserDocument,
  EndSessionDocument,
  EndSessionsDocument,
  OpenSessionsDocument,
  ResetPasswordDocument,
  RevokeApiTokenDocument,
  type Role,
  UsersDocument,
} from '@/gql/operations';
import { ask } from '@/lib/graphql';
import { keepWithin } from '@/lib/keep-within';

export const accessKeys = {
  all: ['access'] as const,
  allUsers: ['access', 'users'] as const,
  users: (after: string | undefined) => [...accessKeys.allUsers, after] as const,
  sessionsOf: (userName: string | undefined) => ['access', 'sessions', userName] as const,
  sessions: (userName: string | undefined, after: string | undefined) =>
    [...accessKeys.sessionsOf(userName), after] as const,
  tokensOf: (userName: string | undefined) => ['access', 'tokens', userName] as const,
  tokens: (userName: string | undefined, after: string | undefined) =>
    [...accessKeys.tokensOf(userName), after] as const,
};

export const accessPageSize = 50;
/** Who signs in elsewhere is no event of a cluster. */
const accessIntervalMs = 15_000;

export function usersOf(after: string | undefined) {
  return queryOptions({
    queryKey: accessKeys.users(after),
    queryFn: ({ signal }) =>
      ask(UsersDocument, { first: accessPageSize, after: after ?? null }, signal),
    placeholderData: keepWithin(accessKeys.allUsers),
    refetchInterval: accessIntervalMs,
  });
}

/** Without a name, an administrator gets the sessions of all users, others get their own. */
export function sessionsOf(userName: string | undefined, after: string | undefined) {
  const variables = { first: accessPageSize, after: after ?? null, userName: userName ?? null };
  return queryOptions({
    queryKey: accessKeys.sessions(userName, after),
    queryFn: ({ signal }) => ask(OpenSessionsDocument, variables, signal),
    placeholderData: keepWithin(accessKeys.sessionsOf(userName)),
    refetchInterval: accessIntervalMs,
  });
}

export function tokensOf(userName: string | undefined, after: string | undefined) {
  const variables = { first: accessPageSize, after: after ?? null, userName: userName ?? null };
  return queryOptions({
    queryKey: accessKeys.tokens(userName, after),
    queryFn: ({ signal }) => ask(ApiTokensDocument, variables, signal),
    placeholderData: keepWithin(accessKeys.tokensOf(userName)),
    refetchInterval: accessIntervalMs,
  });
}

function refreshing(client: QueryClient) {
  return { onSuccess: () => client.invalidateQueries({ queryKey: accessKeys.all }) };
}

export type UserDeed =
  | {
      deed: 'role';
      name: string;
      role: Role;
      clusterPatterns: string[];
      reason: string;
      /** The version of the access as it was read: a later change by others is not overwritten. */
      version: string;
    }
  | { deed: 'disable' | 'enable'; name: string; reason: string };

export function inviteUser(client: QueryClient) {
  return {
    mutationFn: (wanted: { name: string; role: Role; clusterPatterns: string[] }) =>
      ask(AddUserDocument, wanted),
    ...refreshing(client),
  };
}

export function resetPassword(client: QueryClient) {
  return {
    mutationFn: (name: string) => ask(ResetPasswordDocument, { name }),
    ...refreshing(client),
  };
}

export function changeUser(client: QueryClient) {
  return {
    mutationFn: async (wanted: UserDeed): Promise<void> => {
      const { name } = wanted;
      const reason = wanted.reason.trim() || null;
      if (wanted.deed === 'role') {
        const { role, clusterPatterns, version } = wanted;
        await ask(ChangeUserRoleDocument, { name, role, clusterPatterns, reason, version });
      } else {
        const document = wanted.deed === 'disable' ? DisableUserDocument : EnableUserDocument;
        await ask(document, { name, reason });
      }
    },
    ...refreshing(client),
  };
}

export function endSession(client: QueryClient) {
  return { mutationFn: (id: string) => ask(EndSessionDocument, { id }), ...refreshing(client) };
}

/** Ends all sessions of a user; for the current user that includes the present session. */
export function endSessions(client: QueryClient) {
  return {
    mutationFn: (userName: string) => ask(EndSessionsDocument, { userName }),
    ...refreshing(client),
  };
}

export function createToken(client: QueryClient) {
  return {
    mutationFn: (wanted: ApiTokenInput) => ask(CreateApiTokenDocument, { wanted }),
    ...refreshing(client),
  };
}

export function revokeToken(client: QueryClient) {
  return { mutationFn: (id: string) => ask(RevokeApiTokenDocument, { id }), ...refreshing(client) };
}
