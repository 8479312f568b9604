import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { consoleRoute } from './console-route';
import { cursor, searchOf, text, uuid } from './search';

export type AuditSearch = { actor?: string; operation?: string; of?: string; after?: string };

export const auditRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/audit',
  validateSearch: searchOf<AuditSearch>({ actor: text, operation: uuid, of: text, after: cursor }),
  component: lazyRouteComponent(() => import('./audit-page'), 'AuditPage'),
});
