import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { topicKinds } from '@/features/topics/topic-kind';
import type { TopicKind } from '@/gql/operations';
import { consoleRoute } from './console-route';
import { textOf, wordOf } from './search';

const orders = ['create', 'createGroup', 'changeGroup', 'deleteGroup'] as const;
/** The form that is open over the page; `group` fills in its consumer group. */
export type TopicsOrder = (typeof orders)[number];

export type TopicsSearch = {
  search?: string;
  kind?: TopicKind;
  after?: string;
  sort?: string;
  order?: TopicsOrder;
  group?: string;
};

export const topicsRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/topics',
  validateSearch: (raw: Record<string, unknown>): TopicsSearch => {
    const search = textOf(raw.search);
    const kind = wordOf(raw.kind, topicKinds);
    const after = textOf(raw.after);
    const sort = textOf(raw.sort);
    const order = wordOf(raw.order, orders);
    const group = textOf(raw.group);
    return {
      ...(search ? { search } : {}),
      ...(kind ? { kind } : {}),
      ...(after ? { after } : {}),
      ...(sort ? { sort } : {}),
      ...(order ? { order } : {}),
      ...(group ? { group } : {}),
    };
  },
  component: lazyRouteComponent(() => import('./topics-page'), 'TopicsPage'),
});
