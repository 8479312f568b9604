import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, Outlet } from '@tanstack/react-router';
import { NotFoundPage } from './not-found-page';
import { RouteError } from './route-error';
import { textOf } from './search';

export const rootRoute = createRootRouteWithContext<{ queryClient: QueryClient }>()({
  validateSearch: (raw: Record<string, unknown>): { cluster?: string } => {
    const cluster = textOf(raw.cluster);
    return cluster ? { cluster } : {};
  },
  component: Outlet,
  notFoundComponent: NotFoundPage,
  errorComponent: RouteError,
});
