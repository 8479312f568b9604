import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { consoleRoute } from './console-route';
import { searchOf, text, word } from './search';

export type BrokerSearch = { search?: string; only?: 'changed'; order?: 'drain' };

export const brokerRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/brokers/$groupName/$brokerId',
  validateSearch: searchOf<BrokerSearch>({
    search: text,
    only: word(['changed']),
    order: word(['drain']),
  }),
  component: lazyRouteComponent(() => import('./broker-page'), 'BrokerPage'),
});
