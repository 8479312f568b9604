import { createRoute } from '@tanstack/react-router';
import { rootRoute } from './root-route';
import { innerPath } from './search';
import { SignInPage } from './sign-in-page';

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: (raw: Record<string, unknown>): { next?: string } => {
    const next = innerPath(raw.next);
    return next ? { next } : {};
  },
  component: SignInPage,
});
