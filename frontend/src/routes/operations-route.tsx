import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { operationStates } from '@/features/operations/operation';
import type { OperationState } from '@/gql/operations';
import { consoleRoute } from './console-route';
import { cursor, searchOf, text, word } from './search';

export type OperationsSearch = {
  state?: OperationState;
  kind?: string;
  search?: string;
  after?: string;
};

export const operationsRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/operations',
  validateSearch: searchOf<OperationsSearch>({
    state: word(operationStates),
    kind: text,
    search: text,
    after: cursor,
  }),
  component: lazyRouteComponent(() => import('./operations-page'), 'OperationsPage'),
});
