import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { operationStates } from '@/features/operations/operation';
import type { OperationState } from '@/gql/operations';
import { consoleRoute } from './console-route';
import { textOf, wordOf } from './search';

export type OperationsSearch = {
  state?: OperationState;
  kind?: string;
  search?: string;
  after?: string;
};

export const operationsRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/operations',
  validateSearch: (raw: Record<string, unknown>): OperationsSearch => {
    const state = wordOf(raw.state, operationStates);
    const kind = textOf(raw.kind);
    const search = textOf(raw.search);
    const after = textOf(raw.after);
    return {
      ...(state ? { state } : {}),
      ...(kind ? { kind } : {}),
      ...(search ? { search } : {}),
      ...(after ? { after } : {}),
    };
  },
  component: lazyRouteComponent(() => import('./operations-page'), 'OperationsPage'),
});
