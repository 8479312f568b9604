import { Button, Menu, Modal } from '@mantine/core';
import { IconChevronDown, IconKey, IconLogout } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Fragment } from 'react';
import { useTranslation } from 'react-i18next';
import { ErrorNotice } from '@/components/error-notice';
import { formatDateTime } from '@/lib/format';
import { type Session, signOut } from './session-queries';

type AccountMenuProps = { session: Session; onSignedOut: () => void };

/** Who is signed in, until when, and the way out. */
export function AccountMenu({ session, onSignedOut }: AccountMenuProps) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const leaving = useMutation({ mutationFn: () => signOut(client), onSuccess: onSignedOut });
  return (
    <>
      <Menu position="bottom-end" width={230} shadow="sm">
        <Menu.Target>
          <Button
            variant="subtle"
            color="gray"
            c="var(--text)"
            rightSection={<IconChevronDown size={13} aria-hidden />}
            aria-label={t('account.label', { name: session.name })}
          >
            {session.name}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label c="var(--text-muted)">
            {t('account.role', { role: session.role })}
            <br />
            {session.cluster_limits.map((patterns) => (
              <Fragment key={patterns.join()}>
                {t('account.clusters', { patterns: patterns.join(', ') })}
                <br />
              </Fragment>
            ))}
            {t('account.until', { time: formatDateTime(Date.parse(session.expires_at)) })}
          </Menu.Label>
          <Menu.Item
            leftSection={<IconKey size={14} aria-hidden />}
            component={Link}
            to="/password"
          >
            {t('account.password')}
          </Menu.Item>
          <Menu.Item
            leftSection={<IconLogout size={14} aria-hidden />}
            onClick={() => leaving.mutate()}
          >
            {t('account.signOut')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Modal
        opened={leaving.isError}
        onClose={leaving.reset}
        title={t('account.notSignedOut')}
        closeButtonProps={{ 'aria-label': t('word.close') }}
        centered
      >
        {leaving.error ? (
          <ErrorNotice error={leaving.error} onRetry={() => leaving.mutate()} />
        ) : null}
      </Modal>
    </>
  );
}
