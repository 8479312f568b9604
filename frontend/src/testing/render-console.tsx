import { createMemoryHistory } from '@tanstack/react-router';
import { render } from '@testing-library/react';
import { App } from '@/app/app';
import { createConsole } from '@/app/create-console';
import { type Call, type StubOptions, stubControlPlane } from './control-plane';
import { installFakeSocket } from './fake-socket';

type RenderedConsole = ReturnType<typeof createConsole> & {
  calls: Call[];
  /** Where the console is, without the name of the only cluster, which it writes there by itself. */
  address: () => string;
};

const pinned = /cluster=regent&|[?&]cluster=regent$|%3Fcluster%3Dregent$/;

/** The whole console at an address, before a stubbed control plane. */
export function renderConsole(address: string, options: StubOptions = {}): RenderedConsole {
  installFakeSocket();
  const { calls } = stubControlPlane(options);
  const console = createConsole(createMemoryHistory({ initialEntries: [address] }));
  const { queries, ...defaults } = console.queryClient.getDefaultOptions();
  console.queryClient.setDefaultOptions({ ...defaults, queries: { ...queries, retry: false } });
  render(<App {...console} />);
  return {
    ...console,
    calls,
    address: () => console.router.state.location.href.replace(pinned, ''),
  };
}
