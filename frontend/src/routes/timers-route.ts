import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import type { DueBy } from '@/features/timers/timer-queries';
import { consoleRoute } from './console-route';
import { cursor, searchOf, text, word } from './search';

const spans = ['hours', 'minutes'] as const;
const orders = ['recall'] as const;

export type TimersSearch = {
  topic?: string;
  by?: DueBy;
  after?: string;
  /** The form that is open over the page. */
  order?: (typeof orders)[number];
};

export const timersRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/timers',
  validateSearch: searchOf<TimersSearch>({
    topic: text,
    by: word(spans),
    after: cursor,
    order: word(orders),
  }),
  component: lazyRouteComponent(() => import('./timers-page'), 'TimersPage'),
});
