import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { clientRoles } from '@/features/clients/client';
import type { ClientRole } from '@/gql/operations';
import { consoleRoute } from './console-route';
import { cursor, searchOf, text, word } from './search';

export type ClientsSearch = {
  search?: string;
  group?: string;
  role?: ClientRole;
  after?: string;
};

export const clientsRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/clients',
  validateSearch: searchOf<ClientsSearch>({
    search: text,
    group: text,
    role: word(clientRoles),
    after: cursor,
  }),
  component: lazyRouteComponent(() => import('./clients-page'), 'ClientsPage'),
});
