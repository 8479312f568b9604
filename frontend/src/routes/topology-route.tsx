import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { consoleRoute } from './console-route';
import { searchOf, text } from './search';

export const topologyRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/topology',
  validateSearch: searchOf<{ sort?: string }>({ sort: text }),
  component: lazyRouteComponent(() => import('./topology-page'), 'TopologyPage'),
});
