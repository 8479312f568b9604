import { SegmentedControl } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Page } from '@/components/page';
import { isAdmin } from '@/features/access/roles';
import { currentSession } from '@/features/session/session-queries';
import { type AccessSearch, accessTabs } from './access-route';
import { SessionsPanel } from './sessions-panel';
import { TokensPanel } from './tokens-panel';
import { UsersPanel } from './users-panel';

/** Who may sign in, who is, and which programs speak for them. */
export function AccessPage() {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/access' });
  const view = useSearch({ from: '/console/access' });
  const { data: session } = useSuspenseQuery(currentSession);
  // Access is of no cluster: who reaches some clusters only sees their own.
  const seesAll = isAdmin(session.role) && session.cluster_limits.length === 0;
  const tabs = accessTabs.filter((tab) => seesAll || tab !== 'users');
  const tab = tabs.find((one) => one === view.tab) ?? tabs[0] ?? 'sessions';
  // Another list begins at its first page.
  const change = (part: AccessSearch) =>
    void navigate({ search: (now) => ({ ...now, ...part, after: undefined }), replace: true });
  const userName = seesAll && view.whose === 'all' ? undefined : session.name;
  return (
    <Page
      title={t('nav.access')}
      summary={t('access.summary')}
      actions={
        <>
          {seesAll && tab !== 'users' ? (
            <SegmentedControl
              aria-label={t('access.whose')}
              value={view.whose ?? 'mine'}
              onChange={(whose) => change({ whose: whose === 'all' ? whose : undefined })}
              data={[
                { value: 'mine', label: t('access.mine') },
                { value: 'all', label: t('access.all') },
              ]}
            />
          ) : null}
          <SegmentedControl
            aria-label={t('access.view')}
            value={tab}
            onChange={(next) => change({ tab: tabs.find((one) => one === next) })}
            data={tabs.map((one) => ({ value: one, label: t(`${one}.title`) }))}
          />
        </>
      }
    >
      {tab === 'users' ? <UsersPanel after={view.after} /> : null}
      {tab === 'sessions' ? (
        <SessionsPanel userName={userName} ownName={session.name} after={view.after} />
      ) : null}
      {tab === 'tokens' ? (
        <TokensPanel userName={userName} ownRole={session.role} after={view.after} />
      ) : null}
    </Page>
  );
}
