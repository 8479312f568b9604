import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import type { EpochsAs } from '@/features/replica-groups/epoch-panel';
import type { ElectionMode } from '@/gql/operations';
import { consoleRoute } from './console-route';
import { cursor, id, searchOf, word } from './search';

export type ReplicaGroupSearch = {
  designate?: string;
  mode?: ElectionMode;
  epochs?: EpochsAs;
  after?: string;
  /** The form that is open over the page. */
  order?: 'migrate';
};

export const replicaGroupRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/replica-groups/$brokerGroupName',
  validateSearch: searchOf<ReplicaGroupSearch>({
    designate: id,
    mode: word<ElectionMode>(['GRACEFUL', 'NOW']),
    epochs: word<EpochsAs>(['lanes', 'table']),
    after: cursor,
    order: word(['migrate'] as const),
  }),
  component: lazyRouteComponent(() => import('./replica-group-page'), 'ReplicaGroupPage'),
});
