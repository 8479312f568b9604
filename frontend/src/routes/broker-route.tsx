import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { consoleRoute } from './console-route';
import { textOf, wordOf } from './search';

export type BrokerSearch = { search?: string; only?: 'changed'; order?: 'drain' };

export const brokerRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/brokers/$groupName/$brokerId',
  validateSearch: (raw: Record<string, unknown>): BrokerSearch => {
    const search = textOf(raw.search);
    const only = wordOf(raw.only, ['changed'] as const);
    const order = wordOf(raw.order, ['drain'] as const);
    return {
      ...(search ? { search } : {}),
      ...(only ? { only } : {}),
      ...(order ? { order } : {}),
    };
  },
  component: lazyRouteComponent(() => import('./broker-page'), 'BrokerPage'),
});
