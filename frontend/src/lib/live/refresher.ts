import type { Query, QueryClient } from '@tanstack/react-query';
import type { Heard } from './heeds';

/**
 * Has queries asked again that heed what was heard: once a flush, however many events there were.
 * An answer that is under way may be older than the event, so it is waited for, not taken; nor is it
 * cut off, or under a thousand events a second none would ever come.
 */
export function createRefresher(client: QueryClient) {
  const cache = client.getQueryCache();
  const touched = new Set<string>();
  const touch = (isTouched: (query: Query) => boolean) => {
    for (const query of cache.getAll()) {
      if (isTouched(query)) touched.add(query.queryHash);
    }
  };
  return {
    hear: (heard: Heard) => touch(({ meta }) => meta?.heeds?.(heard) ?? false),
    /** What happened is not known, so all that heeds anything is asked for again. */
    hearAll: () => touch(({ meta }) => meta?.heeds !== undefined),
    flush: () => {
      for (const hash of [...touched]) {
        const query = cache.get(hash);
        if (query?.state.fetchStatus === 'fetching') continue;
        touched.delete(hash);
        if (query) void client.invalidateQueries({ queryKey: query.queryKey, exact: true });
      }
    },
  };
}

export type Refresher = ReturnType<typeof createRefresher>;
