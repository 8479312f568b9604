import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { type FindingState, findingStates } from '@/features/findings/finding';
import { consoleRoute } from './console-route';
import { cursor, searchOf, word } from './search';

export type FindingsSearch = { state?: FindingState; after?: string };

export const findingsRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/findings',
  validateSearch: searchOf<FindingsSearch>({ state: word(findingStates, 'open'), after: cursor }),
  component: lazyRouteComponent(() => import('./findings-page'), 'FindingsPage'),
});
