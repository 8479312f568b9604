import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import type { createConsole } from './create-console';
import { theme } from './theme';

const isTest = import.meta.env.MODE === 'test';
const colorSchemeManager = localStorageColorSchemeManager({ key: 'regent-color-scheme' });

/** The console with everything around it. */
export function App({ router, queryClient }: ReturnType<typeof createConsole>) {
  return (
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      colorSchemeManager={colorSchemeManager}
      env={isTest ? 'test' : 'default'}
      // Tests see no colours, and jsdom would match these rules with each element that it looks at.
      withCssVariables={!isTest}
    >
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  );
}
