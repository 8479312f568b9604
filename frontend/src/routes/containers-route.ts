import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { consoleRoute } from './console-route';
import { cursor, searchOf, text, word } from './search';

const orders = ['add', 'remove'] as const;

export type ContainersSearch = {
  after?: string;
  /** The form that is open over the page. */
  order?: (typeof orders)[number];
  /** The broker to remove, and its container. */
  broker?: string;
  at?: string;
};

export const containersRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/containers',
  validateSearch: searchOf<ContainersSearch>({
    after: cursor,
    order: word(orders),
    broker: text,
    at: text,
  }),
  component: lazyRouteComponent(() => import('./containers-page'), 'ContainersPage'),
});
