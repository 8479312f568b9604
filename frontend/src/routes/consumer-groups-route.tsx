import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { consoleRoute } from './console-route';
import { textOf } from './search';

export type ConsumerGroupsSearch = { search?: string; after?: string; sort?: string };

export const consumerGroupsRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/consumer-groups',
  validateSearch: (raw: Record<string, unknown>): ConsumerGroupsSearch => {
    const search = textOf(raw.search);
    const after = textOf(raw.after);
    const sort = textOf(raw.sort);
    return {
      ...(search ? { search } : {}),
      ...(after ? { after } : {}),
      ...(sort ? { sort } : {}),
    };
  },
  component: lazyRouteComponent(() => import('./consumer-groups-page'), 'ConsumerGroupsPage'),
});
