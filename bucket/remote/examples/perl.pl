#!/usr/bin/perl
# A limiter for `harness run --limiter perl.yaml`: the script beside it, sent to
# Redis over a plain socket, with what comes with Perl and nothing else.
use strict;
use warnings;
use IO::Socket::INET;
use JSON::PP;

my ($login, $host, $port, $db) = $ENV{REDIS_URL} =~ m{^redis://(?:(.*)@)?([^/]*?)(?::(\d+))?(?:/(\d*))?$}
  or die "REDIS_URL is no redis://host:port/database\n";
my $redis = IO::Socket::INET->new(PeerAddr => $host, PeerPort => $port || 6379, Proto => 'tcp') or die "$host: $@\n";
open my $file, '<', 'bucket.lua' or die "bucket.lua: $!\n";
my $script = do { local $/; <$file> };
my $json = JSON::PP->new->utf8;
$| = 1;

# send_words sends a command and returns its reply, which is one line here.
sub send_words {
    my @words = @_;
    utf8::encode($_) for @words;
    print {$redis} join '', '*' . @words . "\r\n", map { '$' . length($_) . "\r\n$_\r\n" } @words;
    my $line = <$redis> // die "Redis has closed the connection\n";
    $line =~ s/\r\n$//;
    return $line;
}

if (defined $login) {
    my ($user, $password) = map { s/%([0-9A-Fa-f]{2})/chr hex $1/ger } split /:/, $login, 2;
    my $reply = send_words('AUTH', ($user ne '' ? $user : ()), $password);
    die "$reply\n" unless $reply eq '+OK';
}
if ($db) {
    my $reply = send_words('SELECT', $db);
    die "$reply\n" unless $reply eq '+OK';
}

while (my $line = <STDIN>) {
    my $ask = $json->decode($line);
    my $reply = send_words('EVAL', $script, 1, "rl:perl:$ask->{key}", @ENV{qw(RATE CAPACITY)}, $ask->{now_ms}, $ask->{cost});
    my %answer = (id => $ask->{id});
    if ($reply =~ /^:(\d+)/) { $answer{allowed} = $1 ? JSON::PP::true : JSON::PP::false }
    else                     { $answer{error}   = $reply }
    print $json->encode(\%answer), "\n";
}
