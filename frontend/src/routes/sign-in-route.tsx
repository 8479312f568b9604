import { createRoute } from '@tanstack/react-router';
import { rootRoute } from './root-route';
import { path, searchOf } from './search';
import { SignInPage } from './sign-in-page';

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: searchOf<{ next?: string }>({ next: path }),
  component: SignInPage,
});
