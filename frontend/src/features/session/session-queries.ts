import { type QueryClient, queryOptions } from '@tanstack/react-query';
import type { Permission } from '@/components/permissions';
import { isUnauthenticated } from '@/lib/api-error';
import { callRest } from '@/lib/rest';

export type Session = {
  name: string;
  role: string;
  /** Why each permission is lacking that is; what is not named may be done. */
  refusals: Partial<Record<Permission, string>>;
  /** The highest class of operations that may be confirmed. */
  risk_max: string;
  /** A cluster is within reach when it fits a pattern of each; none means all clusters. */
  cluster_limits: string[][];
  expires_at: string;
  /** A one-time password lets its user do nothing but replace it. */
  must_change_password: boolean;
};

export const sessionKeys = { current: ['session'] as const };

export const currentSession = queryOptions({
  queryKey: sessionKeys.current,
  queryFn: ({ signal }) => callRest<Session>('GET', '/session', undefined, signal),
  staleTime: 60_000,
  retry: false,
});

export type Credentials = { name: string; password: string };

/** Opens a session, and forgets all earlier answers: another user may have asked for them. */
export async function signIn(client: QueryClient, credentials: Credentials): Promise<void> {
  await callRest<unknown>('POST', '/session', credentials);
  client.clear();
}

/** Replaces one's own password; one's other sessions end. */
export async function replacePassword(
  client: QueryClient,
  oldPassword: string,
  newPassword: string,
): Promise<void> {
  const given = { old_password: oldPassword, new_password: newPassword };
  await callRest<unknown>('PUT', '/session/password', given);
  client.removeQueries({ queryKey: sessionKeys.current });
}

/** Ends the session and forgets everything that was seen in it; one that has ended is as good. */
export async function signOut(client: QueryClient): Promise<void> {
  try {
    await callRest<unknown>('DELETE', '/session');
  } catch (error) {
    if (!isUnauthenticated(error)) throw error;
  }
  client.clear();
}
