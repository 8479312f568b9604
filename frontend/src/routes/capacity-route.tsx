import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { consoleRoute } from './console-route';
import { textOf } from './search';

export type CapacitySearch = { report?: string; disks?: string; topics?: string };

export const capacityRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/capacity',
  validateSearch: (raw: Record<string, unknown>): CapacitySearch => {
    const report = textOf(raw.report);
    const disks = textOf(raw.disks);
    const topics = textOf(raw.topics);
    return {
      ...(report ? { report } : {}),
      ...(disks ? { disks } : {}),
      ...(topics ? { topics } : {}),
    };
  },
  component: lazyRouteComponent(() => import('./capacity-page'), 'CapacityPage'),
});
