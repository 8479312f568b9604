import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { consoleRoute } from './console-route';
import { searchOf, text, uuid } from './search';

export type CapacitySearch = { report?: string; disks?: string; topics?: string };

export const capacityRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/capacity',
  validateSearch: searchOf<CapacitySearch>({ report: uuid, disks: text, topics: text }),
  component: lazyRouteComponent(() => import('./capacity-page'), 'CapacityPage'),
});
