import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { consoleRoute } from './console-route';
import { textOf } from './search';

export type ReplicaGroupsSearch = { search?: string; after?: string; sort?: string };

export const replicaGroupsRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/replica-groups',
  validateSearch: (raw: Record<string, unknown>): ReplicaGroupsSearch => {
    const search = textOf(raw.search);
    const after = textOf(raw.after);
    const sort = textOf(raw.sort);
    return {
      ...(search ? { search } : {}),
      ...(after ? { after } : {}),
      ...(sort ? { sort } : {}),
    };
  },
  component: lazyRouteComponent(() => import('./replica-groups-page'), 'ReplicaGroupsPage'),
});
