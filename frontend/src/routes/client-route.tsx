import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { consoleRoute } from './console-route';

export const clientRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/clients/$clientId',
  component: lazyRouteComponent(() => import('./client-page'), 'ClientPage'),
});
