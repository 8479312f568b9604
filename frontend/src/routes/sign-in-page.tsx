import { useRouter, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { Trans, useTranslation } from 'react-i18next';
import { ColorSchemeSwitch } from '@/components/color-scheme-switch';
import { SignInForm } from '@/features/session/sign-in-form';
import classes from './sign-in-page.module.css';

/** The door of the console. */
export function SignInPage() {
  const { t } = useTranslation();
  const router = useRouter();
  const { next } = useSearch({ from: '/sign-in' });
  useEffect(() => {
    document.title = `${t('signIn.title')} · Regent`;
  }, [t]);
  return (
    <main className={classes.page}>
      <div className={classes.card}>
        <div className={classes.brand}>
          <img src="/mark.svg" width={32} height={32} alt="" />
          <div>
            <h1 className={classes.title}>Regent</h1>
            <p className={classes.lead}>{t('signIn.lead')}</p>
          </div>
        </div>
        <SignInForm onSignedIn={() => router.history.push(next ?? '/')} />
        <p className={classes.hint}>
          <Trans i18nKey="signIn.hint" components={{ code: <code /> }} />
        </p>
      </div>
      <ColorSchemeSwitch />
    </main>
  );
}
