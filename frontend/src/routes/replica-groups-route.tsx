import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { consoleRoute } from './console-route';
import { cursor, searchOf, text } from './search';

export type ReplicaGroupsSearch = { search?: string; after?: string; sort?: string };

export const replicaGroupsRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/replica-groups',
  validateSearch: searchOf<ReplicaGroupsSearch>({ search: text, after: cursor, sort: text }),
  component: lazyRouteComponent(() => import('./replica-groups-page'), 'ReplicaGroupsPage'),
});
