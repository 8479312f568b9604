import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { topicKinds } from '@/features/topics/topic-kind';
import type { TopicKind } from '@/gql/operations';
import { consoleRoute } from './console-route';
import { cursor, searchOf, text, word } from './search';

const orders = [
  'create',
  'createStatic',
  'importStatic',
  'createGroup',
  'changeGroup',
  'deleteGroup',
] as const;
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
  validateSearch: searchOf<TopicsSearch>({
    search: text,
    kind: word(topicKinds),
    after: cursor,
    sort: text,
    order: word(orders),
    group: text,
  }),
  component: lazyRouteComponent(() => import('./topics-page'), 'TopicsPage'),
});
