import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { consoleRoute } from './console-route';
import { textOf } from './search';

export const consumerGroupRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/consumer-groups/$consumerGroup',
  validateSearch: (raw: Record<string, unknown>): { sort?: string } => {
    const sort = textOf(raw.sort);
    return sort ? { sort } : {};
  },
  component: lazyRouteComponent(() => import('./consumer-group-page'), 'ConsumerGroupPage'),
});
