import { createMemoryHistory } from '@tanstack/react-router';
import { render } from '@testing-library/react';
import { App } from '@/app/app';
import { createConsole } from '@/app/create-console';
import { type Call, type StubOptions, stubControlPlane } from './control-plane';
import { installFakeSocket } from './fake-socket';

type RenderedConsole = ReturnType<typeof createConsole> & { calls: Call[]; address: () => string };

/** The whole console at an address, before a stubbed control plane. */
export function renderConsole(address: string, options: StubOptions = {}): RenderedConsole {
  installFakeSocket();
  const { calls } = stubControlPlane(options);
  const console = createConsole(createMemoryHistory({ initialEntries: [address] }));
  console.queryClient.setDefaultOptions({ queries: { retry: false } });
  render(<App {...console} />);
  return { ...console, calls, address: () => console.router.state.location.href };
}
