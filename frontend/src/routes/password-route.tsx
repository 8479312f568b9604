import { createRoute, redirect } from '@tanstack/react-router';
import { currentSession } from '@/features/session/session-queries';
import { isUnauthenticated } from '@/lib/api-error';
import { PasswordPage } from './password-page';
import { rootRoute } from './root-route';
import { path, searchOf } from './search';

/** Outside the console, of which a one-time password shows nothing. */
export const passwordRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/password',
  validateSearch: searchOf<{ next?: string }>({ next: path }),
  beforeLoad: async ({ context }) => {
    try {
      await context.queryClient.ensureQueryData(currentSession);
    } catch (error) {
      if (!isUnauthenticated(error)) throw error;
      throw redirect({ to: '/sign-in', search: { next: '/password' } });
    }
  },
  component: PasswordPage,
});
