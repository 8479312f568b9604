import { createRoute, redirect } from '@tanstack/react-router';
import { currentSession, type Session } from '@/features/session/session-queries';
import { isUnauthenticated } from '@/lib/api-error';
import { ConsoleLayout } from './console-layout';
import { rootRoute } from './root-route';

/** Everything behind the door: without a session the way leads to the sign-in page and back. */
export const consoleRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'console',
  beforeLoad: async ({ context, location }) => {
    const next = location.href === '/' ? {} : { next: location.href };
    let session: Session;
    try {
      session = await context.queryClient.ensureQueryData(currentSession);
    } catch (error) {
      if (!isUnauthenticated(error)) throw error;
      throw redirect({ to: '/sign-in', search: next });
    }
    if (session.must_change_password) throw redirect({ to: '/password', search: next });
  },
  component: ConsoleLayout,
});
