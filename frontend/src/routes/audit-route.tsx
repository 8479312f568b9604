import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { consoleRoute } from './console-route';
import { textOf } from './search';

export type AuditSearch = { actor?: string; operation?: string; of?: string; after?: string };

export const auditRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/audit',
  validateSearch: (raw: Record<string, unknown>): AuditSearch => {
    const actor = textOf(raw.actor);
    const operation = textOf(raw.operation);
    const of = textOf(raw.of);
    const after = textOf(raw.after);
    return {
      ...(actor ? { actor } : {}),
      ...(operation ? { operation } : {}),
      ...(of ? { of } : {}),
      ...(after ? { after } : {}),
    };
  },
  component: lazyRouteComponent(() => import('./audit-page'), 'AuditPage'),
});
