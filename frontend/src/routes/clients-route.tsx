import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { clientRoles } from '@/features/clients/client';
import type { ClientRole } from '@/gql/operations';
import { consoleRoute } from './console-route';
import { textOf, wordOf } from './search';

export type ClientsSearch = {
  search?: string;
  group?: string;
  role?: ClientRole;
  after?: string;
};

export const clientsRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/clients',
  validateSearch: (raw: Record<string, unknown>): ClientsSearch => {
    const search = textOf(raw.search);
    const group = textOf(raw.group);
    const role = wordOf(raw.role, clientRoles);
    const after = textOf(raw.after);
    return {
      ...(search ? { search } : {}),
      ...(group ? { group } : {}),
      ...(role ? { role } : {}),
      ...(after ? { after } : {}),
    };
  },
  component: lazyRouteComponent(() => import('./clients-page'), 'ClientsPage'),
});
