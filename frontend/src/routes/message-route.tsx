import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import type { BodyForm } from '@/gql/operations';
import { consoleRoute } from './console-route';
import { searchOf, text, word } from './search';

export type MessageSearch = { topic?: string; form?: BodyForm };

export const messageRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/messages/$messageId',
  validateSearch: searchOf<MessageSearch>({
    topic: text,
    form: word<BodyForm>(['AUTO', 'TEXT', 'JSON', 'HEX']),
  }),
  component: lazyRouteComponent(() => import('./message-page'), 'MessagePage'),
});
