import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import type { EpochsAs } from '@/features/replica-groups/epoch-panel';
import type { ElectionMode } from '@/gql/operations';
import { consoleRoute } from './console-route';
import { idOf, textOf, wordOf } from './search';

export type ReplicaGroupSearch = {
  designate?: string;
  mode?: ElectionMode;
  epochs?: EpochsAs;
  after?: string;
};

export const replicaGroupRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/replica-groups/$groupName',
  validateSearch: (raw: Record<string, unknown>): ReplicaGroupSearch => {
    const designate = idOf(raw.designate);
    const mode = wordOf<ElectionMode>(raw.mode, ['GRACEFUL', 'NOW']);
    const epochs = wordOf<EpochsAs>(raw.epochs, ['lanes', 'table']);
    const after = textOf(raw.after);
    return {
      ...(designate ? { designate } : {}),
      ...(mode ? { mode } : {}),
      ...(epochs ? { epochs } : {}),
      ...(after ? { after } : {}),
    };
  },
  component: lazyRouteComponent(() => import('./replica-group-page'), 'ReplicaGroupPage'),
});
