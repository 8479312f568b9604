import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { lockHolders } from '@/features/locks/lock';
import type { LockHolder } from '@/gql/operations';
import { consoleRoute } from './console-route';
import { idOf, textOf, wordOf } from './search';

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

const texts = ['group', 'topic', 'client', 'after', 'whyGroup', 'whyTopic', 'whyBroker'] as const;

export const locksRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/locks',
  validateSearch: (raw: Record<string, unknown>): LocksSearch => {
    const tab = wordOf(raw.tab, ['leases'] as const);
    const holder = wordOf(raw.holder, lockHolders);
    const whyQueue = idOf(raw.whyQueue);
    const given = texts.flatMap((name) => {
      const text = textOf(raw[name]);
      return text ? [[name, text]] : [];
    });
    return {
      ...(Object.fromEntries(given) as Pick<LocksSearch, (typeof texts)[number]>),
      ...(tab ? { tab } : {}),
      ...(holder ? { holder } : {}),
      ...(whyQueue ? { whyQueue } : {}),
    };
  },
  component: lazyRouteComponent(() => import('./locks-page'), 'LocksPage'),
});
