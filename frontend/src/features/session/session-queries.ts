import { type QueryClient, queryOptions } from '@tanstack/react-query';
import { callRest } from '@/lib/rest';

export type Session = { name: string; role: string; expires_at: string };

export const sessionKeys = { current: ['session'] as const };

export const currentSession = queryOptions({
  queryKey: sessionKeys.current,
  queryFn: ({ signal }) => callRest<Session>('GET', '/session', undefined, signal),
  staleTime: 60_000,
  retry: false,
});

export type Credentials = { name: string; password: string };

export async function signIn(client: QueryClient, credentials: Credentials): Promise<void> {
  await callRest<unknown>('POST', '/session', credentials);
  client.removeQueries({ queryKey: sessionKeys.current });
}

/** Ends the session and forgets everything that was seen in it. */
export async function signOut(client: QueryClient): Promise<void> {
  await callRest<unknown>('DELETE', '/session');
  client.clear();
}
