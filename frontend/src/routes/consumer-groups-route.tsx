import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { consoleRoute } from './console-route';
import { cursor, searchOf, text } from './search';

export type ConsumerGroupsSearch = { search?: string; after?: string; sort?: string };

export const consumerGroupsRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/consumer-groups',
  validateSearch: searchOf<ConsumerGroupsSearch>({ search: text, after: cursor, sort: text }),
  component: lazyRouteComponent(() => import('./consumer-groups-page'), 'ConsumerGroupsPage'),
});
