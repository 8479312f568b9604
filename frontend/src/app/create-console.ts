import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { createRouter, type RouterHistory } from '@tanstack/react-router';
import { isFinal, isUnauthenticated } from '@/lib/api-error';
import { IgnoredSearch } from '@/routes/ignored-search';
import { routeTree } from '@/routes/route-tree';

const retryCountMax = 2;

function createQueryClient(onSessionLost: () => void): QueryClient {
  const onError = (error: Error) => {
    if (isUnauthenticated(error)) onSessionLost();
  };
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      // A request that cannot be sent fails, and the page says so.
      // A parked order would go out later, when no user expects it.
      queries: {
        networkMode: 'always',
        refetchOnReconnect: true,
        staleTime: 2_000,
        retry: (count, error) => count < retryCountMax && !isFinal(error),
        refetchOnWindowFocus: true,
      },
      mutations: { networkMode: 'always', retry: false },
    },
  });
}

/** Builds the console once: its cache, its routes, and what happens when the session ends. */
export function createConsole(history?: RouterHistory) {
  const toSignIn = () => {
    const { pathname, href } = router.state.location;
    if (pathname === '/sign-in') return;
    void router.navigate({ to: '/sign-in', search: { next: href } });
  };
  const queryClient = createQueryClient(toSignIn);
  const ignored = new IgnoredSearch();
  const router = createRouter({
    routeTree,
    context: { queryClient, ignored },
    defaultPreload: 'intent',
    defaultPreloadStaleTime: 0,
    scrollToTopSelectors: ['#main'],
    ...(history ? { history } : {}),
  });
  ignored.follow(router);
  return { router, queryClient };
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createConsole>['router'];
  }
}
