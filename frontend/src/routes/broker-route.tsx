import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { consoleRoute } from './console-route';
import { searchOf, text, word } from './search';

export type BrokerSearch = { search?: string; only?: 'changed'; order?: 'drain' };

const validateSearch = searchOf<BrokerSearch>({
  search: text,
  only: word(['changed']),
  order: word(['drain']),
});

export const brokerRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/brokers/$brokerName',
  validateSearch,
  component: lazyRouteComponent(() => import('./broker-page'), 'BrokerPage'),
});

/** Addresses of former times name a broker by its group and the id of its role: 0 is the master. */
export const formerBrokerRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/brokers/$brokerGroupName/$brokerId',
  validateSearch,
  beforeLoad: ({ params: { brokerGroupName, brokerId }, search }) => {
    // The API reads the former spelling of a name, and answers with the name.
    const params = { brokerName: `${brokerGroupName}/${brokerId}` };
    throw redirect({ to: '/brokers/$brokerName', params, search, replace: true });
  },
});
