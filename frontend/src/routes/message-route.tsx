import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import type { BodyForm } from '@/gql/operations';
import { consoleRoute } from './console-route';
import { textOf, wordOf } from './search';

export type MessageSearch = { topic?: string; form?: BodyForm };

export const messageRoute = createRoute({
  getParentRoute: () => consoleRoute,
  path: '/messages/$messageId',
  validateSearch: (raw: Record<string, unknown>): MessageSearch => {
    const topic = textOf(raw.topic);
    const form = wordOf<BodyForm>(raw.form, ['AUTO', 'TEXT', 'JSON', 'HEX']);
    return { ...(topic ? { topic } : {}), ...(form ? { form } : {}) };
  },
  component: lazyRouteComponent(() => import('./message-page'), 'MessagePage'),
});
