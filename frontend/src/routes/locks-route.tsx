import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { lockHolders } from '@/features/locks/lock';
import type { LockHolder } from '@/gql/operations';
import { consoleRoute } from './console-route';
import { cursor, queue, searchOf, text, word } from './search';

export type LocksSearch = {
  tab?: 'leases';
  group?: string;
  topic?: string;
  client?: string;
  holder?: LockHolder;
  after?: string;
  /** The queue that is asked about: of which group, topic, broker group, and which. */
  whyGroup?: string;
  whyTopic?: string;
  whyBroker?: string;
  whyQueue?: string;
};

export const locksRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/locks',
  validateSearch: searchOf<LocksSearch>({
    tab: word(['leases']),
    group: text,
    topic: text,
    client: text,
    holder: word(lockHolders),
    after: cursor,
    whyGroup: text,
    whyTopic: text,
    whyBroker: text,
    whyQueue: queue,
  }),
  component: lazyRouteComponent(() => import('./locks-page'), 'LocksPage'),
});
