import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { consoleRoute } from './console-route';

export const operationRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/operations/$operationId',
  component: lazyRouteComponent(() => import('./operation-page'), 'OperationPage'),
});
