import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { type FindingState, findingStates } from '@/features/findings/finding';
import { consoleRoute } from './console-route';
import { textOf, wordOf } from './search';

export type FindingsSearch = { state?: FindingState; after?: string };

export const findingsRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/findings',
  validateSearch: (raw: Record<string, unknown>): FindingsSearch => {
    const state = wordOf(raw.state, findingStates);
    const after = textOf(raw.after);
    return { ...(state && state !== 'open' ? { state } : {}), ...(after ? { after } : {}) };
  },
  component: lazyRouteComponent(() => import('./findings-page'), 'FindingsPage'),
});
