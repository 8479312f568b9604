import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, Outlet } from '@tanstack/react-router';
import type { IgnoredSearch } from './ignored-search';
import { NotFoundPage } from './not-found-page';
import { RouteError } from './route-error';
import { searchOf, text } from './search';

export const rootRoute = createRootRouteWithContext<{
  queryClient: QueryClient;
  ignored: IgnoredSearch;
}>()({
  validateSearch: searchOf<{ cluster?: string }>({ cluster: text }),
  component: Outlet,
  notFoundComponent: NotFoundPage,
  errorComponent: RouteError,
});
