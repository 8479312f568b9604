import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { consoleRoute } from './console-route';
import { cursor, searchOf, text } from './search';

export type TransactionsSearch = { group?: string; topic?: string; after?: string };

export const transactionsRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/transactions',
  validateSearch: searchOf<TransactionsSearch>({ group: text, topic: text, after: cursor }),
  component: lazyRouteComponent(() => import('./transactions-page'), 'TransactionsPage'),
});
