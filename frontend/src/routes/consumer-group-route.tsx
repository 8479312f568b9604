import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { consoleRoute } from './console-route';
import { searchOf, text } from './search';

export const consumerGroupRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/consumer-groups/$consumerGroup',
  validateSearch: searchOf<{ sort?: string }>({ sort: text }),
  component: lazyRouteComponent(() => import('./consumer-group-page'), 'ConsumerGroupPage'),
});
