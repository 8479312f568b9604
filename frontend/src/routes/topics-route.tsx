import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { topicKinds } from '@/features/topics/topic-kind';
import type { TopicKind } from '@/gql/operations';
import { consoleRoute } from './console-route';
import { textOf, wordOf } from './search';

export type TopicsSearch = { search?: string; kind?: TopicKind; after?: string; sort?: string };

export const topicsRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/topics',
  validateSearch: (raw: Record<string, unknown>): TopicsSearch => {
    const search = textOf(raw.search);
    const kind = wordOf(raw.kind, topicKinds);
    const after = textOf(raw.after);
    const sort = textOf(raw.sort);
    return {
      ...(search ? { search } : {}),
      ...(kind ? { kind } : {}),
      ...(after ? { after } : {}),
      ...(sort ? { sort } : {}),
    };
  },
  component: lazyRouteComponent(() => import('./topics-page'), 'TopicsPage'),
});
