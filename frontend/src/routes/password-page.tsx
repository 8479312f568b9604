import { useSuspenseQuery } from '@tanstack/react-query';
import { useRouter, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { ColorSchemeSwitch } from '@/components/color-scheme-switch';
import { PasswordForm } from '@/features/session/password-form';
import { currentSession } from '@/features/session/session-queries';
import classes from './sign-in-page.module.css';

/** Where a password is replaced: a one-time one before anything else, another whenever one likes. */
export function PasswordPage() {
  const { t } = useTranslation();
  const router = useRouter();
  const { next } = useSearch({ from: '/password' });
  const { data: session } = useSuspenseQuery(currentSession);
  useEffect(() => {
    document.title = `${t('password.title')} · Regent`;
  }, [t]);
  const lead = session.must_change_password ? 'oneTime' : 'own';
  return (
    <main className={classes.page}>
      <div className={classes.card}>
        <div className={classes.brand}>
          <img src="/mark.svg" width={32} height={32} alt="" />
          <div>
            <h1 className={classes.title}>{t('password.title')}</h1>
            <p className={classes.lead}>{t(`password.${lead}`, { name: session.name })}</p>
          </div>
        </div>
        <PasswordForm onReplaced={() => router.history.push(next ?? '/')} />
        <p className={classes.hint}>{t('password.hint')}</p>
      </div>
      <ColorSchemeSwitch />
    </main>
  );
}
